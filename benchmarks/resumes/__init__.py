"""Trainings that resume wrongly, each with a twin that looks as suspicious and resumes right."""
