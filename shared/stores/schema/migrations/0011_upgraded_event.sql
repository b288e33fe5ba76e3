-- Pilgrims walk already: the event was set up before there were settings. The part has no value of its own.
INSERT INTO "event_settings" ("version", "part", "value", "changed_at")
SELECT 1, 'upgraded', '{}', now()
WHERE EXISTS (SELECT FROM "pilgrims") AND NOT EXISTS (SELECT FROM "event_settings");
