/** The views. All but the first are loaded when they are opened. */
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import type { View } from '../router.ts'
import { Now } from '../views/now/now.tsx'
import { words } from '../words.ts'

type Later = Exclude<View, 'now'>

const LOADERS: Readonly<Record<Later, () => Promise<ComponentType>>> = {
  people: async () => (await import('../views/people/people.tsx')).People,
  reports: async () => (await import('../views/reports/reports.tsx')).Reports,
  feedback: async () => (await import('../views/feedback/feedback.tsx')).Feedback,
  messages: async () => (await import('../views/messages/messages.tsx')).Messages,
  lifecycle: async () => (await import('../views/lifecycle/lifecycle.tsx')).Lifecycle,
  house: async () => (await import('../views/administration/administration.tsx')).House,
}

const loaded = signal<Partial<Readonly<Record<View, ComponentType>>>>({ now: Now })
const failed = signal<View | null>(null)

async function load(view: View): Promise<void> {
  if (view === 'now' || loaded.value[view] !== undefined) return
  failed.value = null
  try {
    const component = await LOADERS[view]()
    loaded.value = { ...loaded.value, [view]: component }
  } catch {
    // The network is away, or a new release has replaced the files.
    failed.value = view
  }
}

export function ShownView({ view }: { readonly view: View }) {
  useEffect(() => void load(view), [view])
  const Component = loaded.value[view]
  if (Component !== undefined) return <Component />
  if (failed.value !== view) return <p class="quiet">{words.value.common.loading}</p>
  return (
    <p>
      <button type="button" class="button" onClick={() => location.reload()}>
        {words.value.common.again}
      </button>
    </p>
  )
}
