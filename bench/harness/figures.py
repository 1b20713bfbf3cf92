"""What several rounds say together."""

import math
import statistics


def median(values):
    return statistics.median(values)


def spread(values):
    """Half the distance of the quartiles, as a part of the median; 0 for a single value."""
    middle = median(values)
    if len(values) < 2 or middle == 0:
        return 0.0
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return (third - first) / 2 / middle


def paired_ratio(values, others):
    """The median of the rounds' ratios: what slows the machine for a whole round drops out."""
    ratios = [value / other for value, other in zip(values, others) if other]
    return median(ratios) if ratios else None


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def standard_error(values):
    """Of the median, by the median of the distances from it, so that one wild round doesn't count."""
    middle = median(values)
    distance = median(abs(value - middle) for value in values)
    return 1.253 * 1.4826 * distance / math.sqrt(len(values))
