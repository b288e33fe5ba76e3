/** Languages that are not built in: the table to translate, its upload, and what there is. */
import { useSignal } from '@preact/signals'
import { type EventSettings, readEvent } from '../../event.ts'
import { Ask, BusyButton, warn } from '../../parts/actions.tsx'
import { dayOf, now } from '../../clock.ts'
import { fileName, saveBlob } from '../../parts/download.ts'
import { Field, FileDrop } from '../../parts/fields.tsx'
import { PanelFrom, refusalOf } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { client } from '../../session.ts'
import { ownName, pair, words } from '../../words.ts'
import type { TranslationFile } from './translation-file.ts'

interface Props {
  readonly from: Resource<EventSettings>
}

export const TranslationPanel = ({ from }: Props) => (
  <PanelFrom title={words.value.translation.title} kind="event-translation" from={from}>
    {(settings) => <Translations from={from} settings={settings} />}
  </PanelFrom>
)

/** What became of the file: a sentence, and a line for each row that is left out. */
interface Outcome {
  readonly sentence: string
  readonly rows: readonly string[]
}

function outcomeOf(
  { texts, rows, repeated }: TranslationFile,
  leftOut: readonly { readonly key: string; readonly fault: string; readonly detail: string }[],
): Outcome {
  const { faults, leftOut: left, row, stored } = words.value.translation
  const invalid = leftOut.map(({ key, fault, detail }) => {
    const sentence = faults[fault as keyof typeof faults]
    return [rows.get(key) ?? 0, typeof sentence === 'string' ? sentence : sentence(detail)] as const
  })
  const all = [...invalid, ...repeated.map((at) => [at, faults.twice] as const)].toSorted(([a], [b]) => a - b)
  const sentence = stored(Object.keys(texts).length - leftOut.length)
  return {
    sentence: all.length === 0 ? sentence : `${sentence} ${left(all.length)}`,
    rows: all.map(([at, fault]) => row(at, fault)),
  }
}

/** The service takes no more bytes of texts. */
const MAX_BYTES = 100_000

function Translations({ from, settings }: Props & { readonly settings: EventSettings }) {
  const messages = words.value.translation
  const tag = useSignal('')
  const outcome = useSignal<Outcome | null>(null)
  const { language: own, translations } = settings.languages.value
  const save = async () => {
    const { translationFile } = await import('./translation-file.ts')
    const answer = await client.readTranslationTable({ language: tag.value.trim() })
    if (!answer.ok) return warn(answer.error, refusalOf)
    const file = new Blob([translationFile(answer.data, own)], { type: 'text/csv' })
    saveBlob(file, fileName(`words-${answer.data.language}`, dayOf(now.value), 'csv'))
  }
  const upload = async (file: File) => {
    const { readTranslation } = await import('./translation-file.ts')
    const read = readTranslation(new Uint8Array(await file.arrayBuffer()))
    if (typeof read === 'string') return refused(messages.fileFaults[read])
    if (new TextEncoder().encode(JSON.stringify(read.texts)).length > MAX_BYTES)
      return refused(messages.fileFaults['too-large'])
    const { language, texts } = read
    const answer = await client.setTranslation({ language, texts, version: settings.version })
    await from.reload()
    if (!answer.ok) return refused(refusalOf(answer.error))
    outcome.value = outcomeOf(read, answer.data.left_out)
    await readEvent()
  }
  const refused = (sentence: string): void => {
    outcome.value = { sentence, rows: [] }
  }
  return (
    <div class="stack">
      <p class="small">{messages.text}</p>
      <Field
        name="translation-language"
        label={messages.tag}
        placeholder={messages.tagHint}
        value={tag.value}
        onType={(text) => (tag.value = text)}
      />
      <div class="row">
        <BusyButton run={save}>{messages.save}</BusyButton>
      </div>
      <FileDrop
        title={messages.drop}
        note={messages.format}
        accept=".csv"
        name="translation-file"
        onChoose={upload}
      />
      {outcome.value === null ? null : (
        <div aria-live="polite" class="stack tight">
          <p>{outcome.value.sentence}</p>
          <ul>
            {outcome.value.rows.map((row) => (
              <li key={row} class="small">
                {row}
              </li>
            ))}
          </ul>
        </div>
      )}
      {Object.entries(translations).map(([language, texts]) => (
        <div key={language} class="row">
          <span class="grow">{pair(ownName(language), messages.translated(Object.keys(texts).length))}</span>
          <Ask
            ask={messages.remove(ownName(language))}
            title={messages.remove(ownName(language))}
            button={messages.remove(ownName(language))}
            danger
            run={() => client.setTranslation({ language, texts: {}, version: settings.version })}
            onDone={() => void readEvent()}
          >
            <p>{messages.removeAsk}</p>
          </Ask>
        </div>
      ))}
    </div>
  )
}
