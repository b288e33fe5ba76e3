/** The view of a recorded file. Its code is a separate script, because few pilgrims open it. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { words } from '../words.ts'
import { NotLoaded } from './notice.tsx'
import { View } from './view.tsx'

type Script = typeof import('./add-recorded-file.tsx')

/** `missing`: it could not be loaded. */
const script = signal<Script | 'missing' | null>(null)

async function loadScript(): Promise<void> {
  try {
    const loaded = await import('./add-recorded-file.tsx')
    await loaded.loadTexts()
    script.value = loaded
  } catch {
    script.value = 'missing'
  }
}

export function RecordedFile() {
  useEffect(() => void loadScript(), [])
  const loaded = script.value
  return (
    <View title={words.value.trackers.file} back>
      {loaded === 'missing' ? <NotLoaded /> : loaded === null ? null : <loaded.AddRecordedFile />}
    </View>
  )
}
