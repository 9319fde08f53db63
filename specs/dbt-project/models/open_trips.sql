{{ config(
    materialized='view',
    post_hook="""alter view {{ this }} set options (privacy_policy = '{"differential_privacy_policy":
      {"privacy_unit_column": "rider_id", "max_epsilon_per_query": 0.5, "epsilon_budget": 5,
       "delta_per_query": 1e-7, "delta_budget": 1e-6, "max_groups_contributed": 2}}')"""
) }}
select * from {{ ref('paid_trips') }}
