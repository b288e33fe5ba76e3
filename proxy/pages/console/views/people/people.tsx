/** Pilgrims: a list that the service searches, sorts and cuts into pages, and everything about one of them. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { place, show } from '../../router.ts'
import { words } from '../../words.ts'
import { PeopleList } from './people-list.tsx'
import { Person } from './person.tsx'

const TYPING_MS = 300

export function People() {
  const typed = useSignal(place.value.search ?? '')
  const search = useSignal(typed.value)
  const text = typed.value
  useEffect(() => {
    const timer = setTimeout(() => (search.value = text.trim()), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text, search])
  const asked = place.value.search
  useEffect(() => {
    if (asked !== undefined) typed.value = asked
  }, [asked, typed])
  const person = place.value.person ?? null
  return (
    <div class={person === null ? 'view people' : 'view people chosen'}>
      <h1 class="visually-hidden">{words.value.people.title}</h1>
      <PeopleList
        typed={text}
        onType={(value) => (typed.value = value)}
        search={search.value}
        onChoose={(userId) => show('people', { person: userId, search: search.value })}
      />
      {person === null ? null : (
        <Person key={person} userId={person} onBack={() => show('people', { search: search.value })} />
      )}
    </div>
  )
}
