"""Changes of datasets: their units, what maps make of them, and neighbouring relations."""
