"""Makes settings whose fields read the clock and the system's entropy."""

import json

import field_settings
import library_settings

nested = field_settings.Nested()
fields = nested.fields
attrs = field_settings.Attrs()
print(
    json.dumps(
        {
            "clock": [fields.time_ns, str(fields.now), attrs.time_ns, field_settings.Made().time_ns, field_settings.EXECUTED["read"]],
            "entropy": [str(fields.uuid), fields.token, fields.pid + 0, str(attrs.uuid)],
            "library": library_settings.LibrarysOwn().time_ns,
        }
    )
)
