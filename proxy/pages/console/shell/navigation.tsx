import { allowedViews, show, view } from '../router.ts'
import { words } from '../words.ts'
import { Icon } from './icons.tsx'

/** The views of the operator's tier: at the side of a wide screen, at the bottom of a phone. */
export const Navigation = () => (
  <nav class="navigation" aria-label={words.value.nav.label}>
    {allowedViews.value.map((name) => (
      <a
        key={name}
        href={`#/${name}`}
        aria-current={view.value === name ? 'page' : undefined}
        onClick={(event) => {
          event.preventDefault()
          show(name)
        }}
      >
        <Icon name={name} />
        <span>{words.value.nav[name]}</span>
      </a>
    ))}
  </nav>
)
