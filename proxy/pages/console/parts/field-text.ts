/** The trimmed text of a form's field; empty for a missing one. */
export function fieldText(data: FormData, name: string): string {
  const value = data.get(name)
  return typeof value === 'string' ? value.trim() : ''
}
