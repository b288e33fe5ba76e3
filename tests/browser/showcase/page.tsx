/** All components in every state, for developers; a test photographs it in all themes. */
import type { PageWords } from '#shared/locales/words.ts'
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Button } from '#proxy/pages/design/button.tsx'
import { Bars } from '#proxy/pages/design/chart.tsx'
import { Dialog } from '#proxy/pages/design/dialog.tsx'
import { Emblem } from '#proxy/pages/design/emblem.tsx'
import { Facts, Rows } from '#proxy/pages/design/list.tsx'
import { CROWD_STEPS, MARKS, type Mark, MarkSymbol } from '#proxy/pages/design/marks.tsx'
import { Sheet } from '#proxy/pages/design/sheet.tsx'
import { Table } from '#proxy/pages/design/table.tsx'
import { showToast } from '#proxy/pages/design/toast.tsx'
import { levels } from '#shared/locales/en/levels.ts'
import { pageWords } from '#proxy/pages/frame/language.ts'
import { startPage } from '#proxy/pages/frame/start-page.tsx'
import { LanguageSwitch, ThemeSwitch } from '#proxy/pages/frame/switches.tsx'
// The words of any page have those of all pages.
import '#proxy/pages/map/words.ts'

void startPage(() => (
  <main>
    <h1>Design of the pages</h1>
    <p class="quiet">Calm, with gold on deep colours. Every component in every state.</p>
    <div class="row">
      <LanguageSwitch />
      <ThemeSwitch />
    </div>
    <Colours />
    <Type />
    <Buttons />
    <Marks levels={levels} />
    <Lists />
    <Tables />
    <Charts levels={levels} />
    <Panels words={pageWords.value} />
  </main>
))

const Part = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <section>
    <h2>{title}</h2>
    {children}
  </section>
)

const COLOURS = [
  'paper',
  'surface',
  'sunken',
  'ink',
  'soft',
  'line',
  'accent',
  'gold',
  'gold-fill',
  'jade',
  'good',
  'warning',
  'danger',
  'map-sea',
  'map-land',
  'map-coast',
  'map-route',
  'map-walked',
]

const Colours = () => (
  <Part title="Colours">
    <div class="swatches">
      {COLOURS.map((name) => (
        <div key={name}>
          <i style={{ background: `var(--${name})` }} />
          {name}
        </div>
      ))}
    </div>
  </Part>
)

const Type = () => (
  <Part title="Type">
    <h1>白沙屯媽祖進香 Pilgrimage</h1>
    <h3>大甲・彰化・北港</h3>
    <p>隊伍正經過西螺大橋，速度每小時 4.2 公里。 The procession walks over the bridge.</p>
    <p class="quiet small">Quiet and small: as of 14:05. 小字說明</p>
    <p class="figure">179.7</p>
  </Part>
)

const Buttons = () => (
  <Part title="Buttons">
    <div class="row">
      <Button kind="primary">Primary</Button>
      <Button>Ordinary</Button>
      <Button kind="danger">Danger</Button>
      <Button kind="plain">Plain</Button>
      <Button icon label="Closer">
        +
      </Button>
    </div>
    <div class="row">
      <Button kind="primary" busy>
        Busy
      </Button>
      <Button kind="primary" disabled>
        Disabled
      </Button>
      <Button disabled>Disabled</Button>
    </div>
    <div class="row">
      <div class="field">
        <label htmlFor="station">Field</label>
        <select id="station">
          <option>大甲 Dajia</option>
        </select>
      </div>
      <div class="field">
        <label htmlFor="text">Text</label>
        <input id="text" type="text" value="北港" />
      </div>
    </div>
  </Part>
)

const Marks = ({ levels }: { readonly levels: readonly string[] }) => (
  <Part title="Marks and emblems">
    <div class="row marks">
      {(Object.keys(MARKS) as Mark[]).map((mark) => (
        <span key={mark}>
          <MarkSymbol mark={mark} /> {mark}
        </span>
      ))}
    </div>
    <div class="swatches">
      {CROWD_STEPS.map((step) => (
        <div key={step}>
          <i style={{ background: `var(--crowd-${step})` }} />
          crowd {step}
        </div>
      ))}
    </div>
    <div class="row">
      {levels.map((name, i) => (
        <span class="row" key={name}>
          <Emblem level={i + 1} /> {name}
        </span>
      ))}
    </div>
  </Part>
)

const Lists = () => (
  <Part title="Lists, notices, badges">
    <Facts
      facts={[
        { term: 'Pilgrims', figure: '12,480' },
        { term: 'Together', figure: '184,200', unit: 'km' },
        { term: 'Carbon saved', figure: '4,120', unit: 'kg' },
      ]}
    />
    <div class="card">
      <Rows>
        <li>
          <MarkSymbol mark="station" />
          <span class="grow">
            大甲 <span class="quiet">Dajia</span>
          </span>
          <span>14:20</span>
        </li>
        <li>
          <MarkSymbol mark="station" />
          <span class="grow">清水</span>
          <span class="quiet">~ 17:05</span>
        </li>
      </Rows>
    </div>
    <p class="notice">A notice of the organisers.</p>
    <p class="notice warning">Old: the last news is 40 minutes old.</p>
    <p class="notice danger">Danger: this cannot be undone.</p>
    <div class="row">
      <span class="badge good">Under way</span>
      <span class="badge warning">Paused</span>
      <span class="badge danger">Ended</span>
    </div>
  </Part>
)

interface Station {
  readonly name: string
  readonly km: number
}
const STATIONS: readonly Station[] = [
  { name: '通霄', km: 8.9 },
  { name: '大甲', km: 27.4 },
  { name: '彰化', km: 61 },
]
const descending = signal(false)

const Tables = () => (
  <Part title="Tables">
    <Table
      caption="Stations"
      keyOf={({ name }) => name}
      sorted={{ by: 'km', descending: descending.value }}
      onSort={() => (descending.value = !descending.value)}
      rows={descending.value ? [...STATIONS].reverse() : STATIONS}
      columns={[
        { name: 'Name', cell: ({ name }: Station) => name },
        { name: 'km', cell: ({ km }: Station) => km.toFixed(1), number: true, sort: 'km' },
      ]}
    />
    <Table
      caption="Without rows"
      keyOf={({ name }) => name}
      rows={[]}
      empty="Nothing here yet."
      columns={[{ name: 'Name', cell: ({ name }: Station) => name }]}
    />
  </Part>
)

const Charts = ({ levels }: { readonly levels: readonly string[] }) => (
  <Part title="Charts">
    <div class="card">
      <Bars
        bars={levels.map((name, i) => ({
          name,
          value: 900 / (i + 1),
          shown: Math.round(900 / (i + 1)).toString(),
          symbol: <Emblem level={i + 1} />,
        }))}
      />
    </div>
  </Part>
)

const dialog = signal(false)
const sheet = signal(true)

const Panels = ({ words }: { readonly words: PageWords }) => (
  <Part title="Sheet, dialog, toast">
    <Sheet
      label="Example"
      words={words}
      open={sheet.value}
      onToggle={(open) => (sheet.value = open)}
      summary={<h3>隊伍在大甲</h3>}
    >
      {sheet.value ? <p class="quiet">What the sheet shows when it is open.</p> : null}
    </Sheet>
    <div class="row">
      <Button onClick={() => (dialog.value = true)}>Open a dialog</Button>
      <Button onClick={() => showToast('已選擇車站：大甲')}>Show a toast</Button>
      <Button onClick={() => showToast('No network', { warning: true })}>Show a warning</Button>
    </div>
    <Dialog
      title="End the event?"
      open={dialog.value}
      onClose={() => (dialog.value = false)}
      closeWord={words.close}
      actions={
        <>
          <Button onClick={() => (dialog.value = false)}>{words.cancel}</Button>
          <Button kind="danger">End</Button>
        </>
      }
    >
      <p>It cannot be continued afterwards.</p>
    </Dialog>
  </Part>
)
