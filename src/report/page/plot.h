// A plot as data: panels of one kind, with what their series, axes and caption say. SVG and tables are made of it.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "report/page/scale.h"

namespace normtune {

inline constexpr double not_there = std::numeric_limits<double>::quiet_NaN();

/// A measured value, with the interval about it where there is one.
struct Mark {
    double x = 0;
    double y = 0;            // in panels with rows: which, from 0
    double low = not_there;  // of y; in panels with rows, of x
    double high = not_there;
};

struct PlotSeries {
    enum class Draw {
        points,
        line,    // with points
        dashed,  // without
        cloud,   // many small dots
        band,    // a line without points, in the area of its intervals
        boxes    // quartiles: from low to high, with a line at x
    };
    std::string name;
    int style = 0;  // colour and shape; the same for what is the same throughout a page
    Draw draw = Draw::points;
    std::vector<Mark> marks;
};

struct PlotAxis {
    std::string label;  // with its unit
    Scale scale;
    std::string (*text)(double) = nullptr;  // a value as marks and tables tell it; null: as plot_number has it
};

inline constexpr std::size_t most_event_lines = 4;  // of labels of events, above each other

/// Something that happened between two places of the x axis: a dotted line.
struct PlotEvent {
    double x = 0;
    std::string what;
    bool labelled = true;  // beside the line, where there is room; else under the pointer alone
};

/// What a table beside a panel holds; numbers are right-aligned columns, whose headings begin with '>'.
struct Numbers {
    std::vector<std::string> headings;
    std::vector<std::vector<std::string>> lines;
};

struct Panel {
    std::string group;  // a heading above the first of them
    std::string title;
    PlotAxis x;
    PlotAxis y;
    std::vector<std::string> rows;  // names of the y axis's places, from the top; empty: y is a number
    std::vector<PlotSeries> series;
    double x_line = not_there;      // where nothing is lost, or nothing changed
    std::vector<PlotEvent> events;  // from the left; not in panels with rows
    Numbers numbers;                // the panel's values in full
};

struct Plot {
    std::string name;  // of --plot
    std::string title;
    std::string caption;  // what was measured, and how it is drawn
    std::vector<Panel> panels;
};

/// A table of the marks of a panel, for those without one of their own: series, row or x, value, interval.
Numbers numbers_of(const Panel& panel);

/// What stands in for a value in plots and their tables: three digits or more, "-" where there is none.
std::string plot_number(double value);
/// Where a mark is, its value, and its interval ("-": none), as its title and tables have them.
std::string place_text(const Panel& panel, const Mark& mark);
std::string value_text(const Panel& panel, const Mark& mark);
std::string interval_text(const Panel& panel, const Mark& mark);

}  // namespace normtune
