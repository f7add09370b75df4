'use strict';
(() => {
const make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

// One panel of several is shown: the one whose title is chosen.
for (const select of document.querySelectorAll('select[data-chooses]')) {
  const panels = document.getElementById(select.dataset.chooses + '-choice').children;
  const show = () => { for (const [i, panel] of [...panels].entries()) panel.hidden = i !== select.selectedIndex; };
  select.addEventListener('change', show);
  show();
}

const place = document.getElementById('data-table');
if (!place) return;
const data = JSON.parse(document.getElementById('data').textContent);
const { columns, rows } = data;
const column = new Map(columns.map((one, i) => [one.id, i]));
const shown = columns.map((_, i) => i).filter((i) => columns[i].kind !== 'detail');
const details = columns.map((_, i) => i).filter((i) => columns[i].kind === 'detail');
const filters = shown.filter((i) => columns[i].kind === 'name' && columns[i].names.length > 1);
const pageSize = 50;

const cell = (row, i) => {
  const value = row[i];
  if (columns[i].kind === 'name') return columns[i].names[value];
  if (columns[i].kind !== 'detail') return value;
  return columns[i].names[value].replaceAll('\u0001', columns[0].names[row[0]]).replaceAll('\u0002', row[column.get('candidate')]);
};
const number = (value) => {
  if (value === null) return '–';
  const size = Math.abs(value);
  return size >= 1000 || Number.isInteger(value) ? String(Math.round(value)) : value.toPrecision(size >= 100 ? 4 : 3);
};

// What is shown stands in the address, behind '#': it can be kept and sent.
const state = { sort: data.sort, dir: columns[column.get(data.sort)].id === 'size' ? 'desc' : 'asc', q: '', page: 1 };
const read = () => {
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (name === 'page') state.page = Math.max(1, parseInt(value, 10) || 1);
    else if (name === 'sort') state.sort = column.has(value) ? value : state.sort;
    else if (name === 'q' || name === 'dir' || column.has(name)) state[name] = value;
  }
};
const write = () => {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value !== '') words.set(name, value);
  try { history.replaceState(null, '', '#' + words); } catch { /* some browsers have no history for files */ }
};

// "word", "column<number", "column=word".
const compare = { '<': (a, b) => a < b, '>': (a, b) => a > b, '<=': (a, b) => a <= b, '>=': (a, b) => a >= b, '=': (a, b) => a === b };
const test = (word) => {
  const match = /^(\w+)(<=|>=|<|>|=)(.+)$/.exec(word);
  const i = match ? column.get(match[1]) : undefined;
  if (i === undefined) {
    const text = word.toLowerCase();
    return (row) => columns.some((one, k) => one.kind !== 'number' && cell(row, k).toLowerCase().includes(text));
  }
  if (columns[i].kind === 'number') {
    const limit = Number(match[3]);
    return (row) => row[i] !== null && compare[match[2]](row[i], limit);
  }
  return (row) => compare[match[2]](cell(row, i), match[3]);
};
let found = [];
const find = () => {
  const tests = state.q.split(/\s+/).filter(Boolean).map(test);
  for (const i of filters) {
    const wanted = state[columns[i].id];
    if (wanted) tests.push((row) => columns[i].names[row[i]] === wanted);
  }
  found = rows.map((_, i) => i).filter((i) => tests.every((one) => one(rows[i])));
  const by = column.get(state.sort);
  const sign = state.dir === 'desc' ? -1 : 1;
  const key = columns[by].kind === 'number' ? rows.map((row) => row[by]) : rows.map((row) => cell(row, by));
  found.sort((a, b) => {
    const [x, y] = [key[a], key[b]];
    if (x === null || y === null) return (x === null) - (y === null) || a - b;
    return (x < y ? -sign : x > y ? sign : 0) || a - b;
  });
};

const body = make('tbody');
const count = make('p', { className: 'caption', ariaLive: 'polite' });
count.id = 'data-count';
const headers = new Map();
const lineOf = (index) => {
  const row = rows[index];
  const first = make('td');
  const line = make('tr', {}, first);
  line.dataset.row = index;
  for (const i of shown) {
    const value = cell(row, i);
    const text = columns[i].kind === 'number' ? number(value) : value;
    const one = i === 0 ? make('th', { scope: 'row' }, text) : make('td', { className: columns[i].kind === 'number' ? 'n' : columns[i].id }, text);
    if (columns[i].kind === 'number' && value !== null) one.title = String(value);
    line.append(one);
  }
  const has = details.filter((i) => cell(row, i) !== '');
  if (has.length > 0) {
    const button = make('button', { type: 'button', textContent: 'more', ariaExpanded: 'false', ariaLabel: `more of ${cell(row, 0)} ${cell(row, column.get('candidate'))}` });
    button.addEventListener('click', () => {
      const open = button.ariaExpanded === 'true';
      button.ariaExpanded = String(!open);
      if (open) { line.nextSibling.remove(); return; }
      const parts = has.map((i) => make('div', {}, columns[i].label + ': ', make('code', {}, cell(row, i))));
      line.after(make('tr', { className: 'more' }, make('td', { colSpan: shown.length + 1 }, ...parts)));
    });
    first.append(button);
  }
  return line;
};
const pages = () => Math.max(1, Math.ceil(found.length / pageSize));
const draw = () => {
  state.page = Math.min(state.page, pages());
  const from = (state.page - 1) * pageSize;
  const part = found.slice(from, from + pageSize);
  body.replaceChildren(...part.map(lineOf));
  const total = rows.length.toLocaleString('en');
  count.textContent = found.length === 0 ? `None of ${total} rows`
    : `Rows ${from + 1} to ${from + part.length} of ${found.length.toLocaleString('en')}` + (found.length < rows.length ? ` found in ${total}` : '');
  for (const [id, header] of headers) {
    if (id === state.sort) header.setAttribute('aria-sort', state.dir === 'desc' ? 'descending' : 'ascending');
    else header.removeAttribute('aria-sort');
    header.querySelector('span').textContent = id !== state.sort ? '' : state.dir === 'desc' ? ' ▼' : ' ▲';
  }
  for (const [button, there] of moves) button.disabled = there() === state.page;
};
const update = (changes) => {
  Object.assign(state, changes);
  if (!('page' in changes)) state.page = 1;
  if (!('page' in changes)) find();
  draw();
  write();
};

const head = make('tr', {}, make('td'));
for (const i of shown) {
  const { id, label, help, kind } = columns[i];
  const button = make('button', { type: 'button', title: help }, label, make('span', { ariaHidden: 'true' }));
  button.addEventListener('click', () => update({ sort: id, dir: state.sort === id && state.dir === 'asc' ? 'desc' : 'asc' }));
  const header = make('th', { scope: 'col', className: kind === 'number' ? 'n' : '' }, button);
  header.dataset.column = id;
  headers.set(id, header);
  head.append(header);
}
const controls = make('div', { className: 'controls' });
const search = make('input', { type: 'search', id: 'data-find' });
search.addEventListener('input', () => update({ q: search.value }));
controls.append(make('label', {}, 'Find', search));
const selects = new Map();
for (const i of filters) {
  const select = make('select', {}, make('option', { value: '', textContent: 'all' }));
  const names = columns[i].names.filter((name) => name !== '');
  select.append(...names.map((name) => make('option', { value: name, textContent: name })));
  select.addEventListener('change', () => update({ [columns[i].id]: select.value }));
  selects.set(columns[i].id, select);
  controls.append(make('label', {}, columns[i].label, select));
}
const move = (label, text, to) => {
  const button = make('button', { type: 'button', ariaLabel: label, textContent: text });
  button.addEventListener('click', () => update({ page: to() }));
  return [button, to];
};
const moves = [
  move('first page', 'First', () => 1), move('previous page', 'Previous', () => Math.max(1, state.page - 1)),
  move('next page', 'Next', () => Math.min(pages(), state.page + 1)), move('last page', 'Last', () => pages()),
];
const reset = make('button', { type: 'button', textContent: 'All rows' });
reset.addEventListener('click', () => {
  for (const id of selects.keys()) state[id] = '';
  update({ q: '' });
  fill();
});
const fill = () => {
  search.value = state.q;
  for (const [id, select] of selects) select.value = state[id] ?? '';
};
const table = make('table', {}, make('caption', { textContent: place.dataset.caption }), make('thead', {}, head), body);
const scrolled = make('div', { className: 'wide', role: 'region', tabIndex: 0, ariaLabel: place.dataset.caption }, table);
place.replaceChildren(controls, count, scrolled, make('div', { className: 'controls' }, ...moves.map(([button]) => button), reset));

const start = () => { read(); fill(); find(); draw(); };
window.addEventListener('hashchange', start);
start();
// A page that is still loading says when it could be used first.
document.documentElement.dataset.readyMs = String(Math.round(performance.now()));
})();
