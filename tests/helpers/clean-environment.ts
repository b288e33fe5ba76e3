/** The environment of this process, without settings that no test may depend on. */

/** Settings of the service that a shell or a .env file may contain. */
const SETTINGS = /^(EVENT_|LINE_|S3_|(DATABASE|REDIS|NATS|OBJECTS)_URL|(PRIMARY|ALIAS)_HOST|TLS_MODE)/

export const cleanEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !SETTINGS.test(name)))
