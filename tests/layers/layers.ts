/** The layers of `shared/`, from bottom to top. A layer imports only those before it; the client imports none. */
export const LAYERS: readonly string[] = [
  'contracts',
  'core',
  'locales',
  'runtime',
  'stores',
  'points',
  'pilgrims',
  'service',
  'client',
]
