/**
 * Puts values into a text: `{name}` is the value, and `{name|point|points}` the value with the form of its noun.
 * @param values numbers, or numbers as the page writes them
 */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replaceAll(/\{(\w+)(?:\|(.+?)\|(.+?))?\}/g, (_, name: string, one?: string, many?: string) => {
    const value = Object.hasOwn(values, name) ? String(values[name]) : ''
    return one === undefined ? value : `${value} ${value === '1' ? one : many}`
  })
