/** Pilgrims: a list that the service searches, sorts and cuts into pages, and everything about one of them. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useSettled } from '../../parts/settled.ts'
import { place, show } from '../../router.ts'
import { words } from '../../words.ts'
import { PeopleList } from './people-list.tsx'
import { Person } from './person.tsx'

export function People() {
  const typed = useSignal(place.value.search ?? '')
  const search = useSettled(typed.value.trim())
  const asked = place.value.search
  useEffect(() => {
    if (asked !== undefined) typed.value = asked
  }, [asked, typed])
  const { person = null, silentHours = 0, withLinks = false } = place.value
  const listed = { search, silentHours, withLinks }
  return (
    <div class={person === null ? 'view people' : 'view people chosen'}>
      <h1 class="visually-hidden">{words.value.people.title}</h1>
      <PeopleList
        typed={typed.value}
        onType={(value) => (typed.value = value)}
        search={search}
        silentHours={silentHours}
        withLinks={withLinks}
        onChosen={(chosen) => show('people', { ...place.value, ...chosen })}
        onChoose={(userId) => show('people', { ...listed, person: userId })}
      />
      {person === null ? null : <Person key={person} userId={person} onBack={() => show('people', listed)} />}
    </div>
  )
}
