{{ config(materialized='table') }}
select with differential_privacy
  options (epsilon = 0.1, delta = 1e-8, max_groups_contributed = 2, privacy_unit_column = rider_id)
  station, count(*) as starts
from {{ ref('open_trips') }}
group by station
