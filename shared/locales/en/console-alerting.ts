/** The words of the console's panel of alerts, and what the palette finds by other names. */
export const consoleAlerting = {
  alerting: {
    title: 'Alerts to the owner',
    toLine: 'Alerts go by LINE to the person in EVENT_ALERT_USER_ID.',
    noLine:
      'Nobody gets alerts: set LINE_CHANNEL_ACCESS_TOKEN and EVENT_ALERT_USER_ID, then restart the services.',
    noRecipient: 'Nobody gets alerts: set EVENT_ALERT_USER_ID to a LINE user id, then restart the services.',
    noneSent: 'No alert has been sent so far.',
    last: {
      sending: (time: string) => `The last alert is on its way, since ${time}:`,
      sent: (time: string) => `The last alert was sent on ${time}:`,
      skipped: (time: string) => `The last alert was recorded on ${time}, and reached nobody:`,
    },
    lastFailed: (time: string) => `LINE refused the last alert, on ${time}:`,
    noBackup: 'Without a backup, everything is lost with the database’s disk. Make one:',
    oldBackup: 'Make a new one:',
  },
  paletteAlso: {
    alerting: 'alert alarm wake owner incident backup',
    alerts: 'alert incident problem health services',
    'dead-letters': 'dead letters refused points',
    ledger: 'backup lost points',
    schedule: 'reminder scheduled notification',
    compose: 'send message push line',
    'rich-menu': 'line menu deploy',
  },
}
