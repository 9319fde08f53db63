"""A ledger: releases added up, new ones held against it, and its history in git."""
