"""What everything stands on: time, tasks, programs, files, quantities, logs, errors. No Kubernetes here."""
