{{ config(materialized='ephemeral') }}
select rider_id, station, started_on from {{ source('bikes', 'trips') }} where not is_test
