/** Placeholder for the event's name. */
export const EVENT_PLACE = '{event}'

export const withEvent = (text: string, event: string): string => text.replaceAll(EVENT_PLACE, () => event)
