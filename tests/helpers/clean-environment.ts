/** The environment of this process without what no test is to depend on. */

/** Settings of the product that a shell or a .env file may hold. */
const SETTINGS = /^(EVENT_|LINE_|S3_|(DATABASE|REDIS|NATS|OBJECTS)_URL|(PRIMARY|ALIAS)_HOST|TLS_MODE)/

export const cleanEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !SETTINGS.test(name)))
