#include "report/loss_group_json.h"

#include <cmath>

#include "report/json_document.h"

namespace normtune {

nlohmann::json loss_group_json(const LossGroup& group) {
    const bool judged = group.judged > 0;
    return {{"op", json_if(!group.op.empty(), group.op)},
            {"mode", json_if(!group.op.empty(), group.mode)},
            {"problems", group.places},
            {"judged", group.judged},
            {"mean_loss", json_if(judged, group.mean)},
            {"mean_half_width", json_if(judged && std::isfinite(group.mean_half_width()), group.mean_half_width())},
            {"worst_loss", json_if(judged, group.worst)},
            {"worst_problem", json_if(judged, judged ? group.worst_on->problem().key() : "")}};
}

}  // namespace normtune
