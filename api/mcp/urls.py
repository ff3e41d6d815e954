"""The address of the Model Context Protocol, at the root."""

from django.urls import re_path

from api.mcp import http

urlpatterns = [re_path(r"^mcp/?\Z", http.endpoint, name="mcp")]
