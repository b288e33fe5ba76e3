/** The parts of every movable map: its pictures with the marks over them, and buttons. */
import type { ComponentChildren } from 'preact'
import { Button } from '../design/button.tsx'
import { type Mark, MarkSymbol } from '../design/marks.tsx'
import { Symbol } from '../design/symbol.tsx'
import type { MapFrame } from './map-frame.ts'
import { pageWords } from '../frame/language.ts'

/** In drawing order: a later one is above. */
const MARKS: readonly Mark[] = ['tail', 'middle', 'front', 'palanquin', 'me']

interface WorldProps {
  /** Names of the possible marks. */
  readonly names?: Partial<Readonly<Record<Mark, string>>>
  /** Whether the leader is a baton. */
  readonly isRelay?: boolean
  readonly children?: ComponentChildren
}

/** The element that {@link MapFrame} paints and moves. */
export const World = ({ names = {}, isRelay = false, children }: WorldProps) => (
  <div class="world">
    {['ground', 'crowd', 'names'].map((name) => (
      <canvas key={name} class={name} aria-hidden="true" />
    ))}
    {MARKS.filter((mark) => names[mark] !== undefined).map((mark) => (
      <div key={mark} class={`marker marker-${mark}`} data-mark={mark} hidden>
        <MarkSymbol mark={mark} isRelay={isRelay} />
        <span>{names[mark]}</span>
      </div>
    ))}
    {children}
  </div>
)

interface ControlsProps {
  readonly camera: () => MapFrame | null
  /** Further buttons. */
  readonly children: ComponentChildren
}

export const Controls = ({ camera, children }: ControlsProps) => (
  <div class="map-controls" data-over-map>
    <Button icon label={pageWords.value.closer} onClick={() => camera()?.zoom(1)}>
      <Symbol of="closer" />
    </Button>
    <Button icon label={pageWords.value.farther} onClick={() => camera()?.zoom(-1)}>
      <Symbol of="farther" />
    </Button>
    {children}
  </div>
)
