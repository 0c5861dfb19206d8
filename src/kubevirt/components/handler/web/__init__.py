"""What virt-api passes on to the node: consoles, screens, buttons, questions to a guest's agent."""
