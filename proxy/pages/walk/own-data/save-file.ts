/** Gives the pilgrim a file. LINE's browser knows no downloads: there the phone's own sharing takes it. */
export async function saveFile(blob: Blob, name: string): Promise<void> {
  const file = new File([blob], name, { type: blob.type })
  if (/\bLine\//.test(navigator.userAgent) && navigator.canShare?.({ files: [file] }))
    return navigator.share({ files: [file] }).catch(() => undefined)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
