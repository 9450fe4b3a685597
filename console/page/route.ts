import { signal } from '@preact/signals'
import { linkTo, placeIn } from './place.ts'

export const place = signal(placeIn(location.hash))

/** The last address of each list, with its filters. */
const lists = new Map<string, string>()
/** How far each address was scrolled. */
const scrolled = new Map<string, number>()
let isReturn = false

const enter = (): void => {
  // A new entry of the history has no state.
  isReturn = history.state !== null
  history.replaceState('visited', '')
  place.value = placeIn(location.hash)
  const { screen, id } = place.value
  if (!id) lists.set(screen, location.hash)
}

history.scrollRestoration = 'manual'
enter()
addEventListener('hashchange', ({ oldURL }) => {
  scrolled.set(oldURL, scrollY)
  enter()
})

/** Where the page was when its user left this address, if it is a return; else the top. */
export const scrollTop = (): number => (isReturn ? (scrolled.get(location.href) ?? 0) : 0)

/** Links to a list as it was. */
export const linkBackTo = (screen: string): string => lists.get(screen) ?? linkTo(screen)

/** Changes the filters of this screen without an entry in the history. They begin at the first page. */
export const setFilters = (filters: Record<string, string | undefined>): void => {
  const { screen, id, filters: previous } = place.value
  location.replace(linkTo(screen, id, { ...previous, cursor: undefined, ...filters }))
}
