"""Tasks (MCP extension `io.modelcontextprotocol/tasks`, 2026-07-28): calls that outlive their request.

shown     how a task is written
run       one task while its handler runs: its context, its questions, its end
subscription   who is notified of the changes of a task
service   all tasks of an endpoint: starts them, answers tasks/get, tasks/update and tasks/cancel, ends them at shutdown

What is kept of a task, and the seam to where it is kept, is `profiles.mcp.task_store`.
"""
