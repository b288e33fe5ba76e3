/** Makes a picture small enough for the service: its bodies have at most 102,400 bytes. */

const MAX_BYTES = 100_000
const SIDES = [1_600, 1_280, 1_024, 800, 640, 480]
const QUALITY = 0.72

/** @returns null for what the browser can not read as a picture */
export async function smallPicture(file: Blob): Promise<Blob | null> {
  let picture: ImageBitmap
  try {
    picture = await createImageBitmap(file)
  } catch {
    return null
  }
  const canvas = document.createElement('canvas')
  for (const side of SIDES) {
    const scale = Math.min(1, side / Math.max(picture.width, picture.height))
    canvas.width = Math.max(1, Math.round(picture.width * scale))
    canvas.height = Math.max(1, Math.round(picture.height * scale))
    canvas.getContext('2d')!.drawImage(picture, 0, 0, canvas.width, canvas.height)
    const small = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', QUALITY))
    if (small !== null && small.size <= MAX_BYTES) return small
  }
  return null
}
