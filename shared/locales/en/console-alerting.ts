/** The words of the console's panel of alerts, and what the palette finds by other names. */
export const consoleAlerting = {
  alerting: {
    title: 'Alerts to the owner',
    toLine: 'Alerts go by LINE to one person, whom EVENT_ALERT_USER_ID names in the service’s settings.',
    noLine:
      'Nobody gets alerts: the service has no access to LINE. They are only recorded. Set LINE_CHANNEL_ACCESS_TOKEN and EVENT_ALERT_USER_ID, then restart the services.',
    noRecipient:
      'Nobody gets alerts: no recipient is set. They are only recorded. Set EVENT_ALERT_USER_ID to a LINE user id, then restart the services.',
    noneSent: 'No alert has been sent so far.',
    last: {
      sending: 'The last alert is on its way, since {time}:',
      sent: 'The last alert was sent on {time}:',
      skipped: 'The last alert was recorded on {time}, and reached nobody:',
    },
    lastFailed: 'LINE refused the last alert, on {time}:',
    well: 'No cause for an alert now',
    wrong: 'Wrong now: {count}',
    health: 'Health of each part, under “Now”',
    rhythm:
      'The service looks every {seconds} s. It alerts at once when one of these begins, again after {gaps}, then every {last}, and once when all is well again.',
    noBackup:
      'Without a backup, everything is lost with the database’s disk. Ask who runs the server to make one now:',
    oldBackup:
      'What came after it would be lost with the database’s disk. Ask who runs the server for a new one:',
    backupWhere: '(services/README.md, “Backup and restore”). No alert tells of a missing backup.',
  },
  paletteAlso: {
    alerting: 'alert alarm wake owner incident backup',
    alerts: 'alert incident problem',
    parts: 'health status services redis postgres',
    'dead-letters': 'dead letters refused points',
    ledger: 'backup lost points',
    schedule: 'reminder scheduled notification',
    compose: 'send message push line',
    'rich-menu': 'line menu deploy',
  },
}
