import { signal } from '@preact/signals'

/** The place in the address after `#/`: a screen, the object that it shows, and filters. */
export type ScreenPlace = { screen: string; id: string; filters: Record<string, string> }

export const DEFAULT_SCREEN = 'debits'

const placeIn = (hash: string): ScreenPlace => {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [screen = '', ...id] = path.split('/')
  return {
    screen: screen || DEFAULT_SCREEN,
    id: decodeURIComponent(id.join('/')),
    filters: Object.fromEntries(new URLSearchParams(query)),
  }
}

export const place = signal(placeIn(location.hash))

addEventListener('hashchange', () => {
  place.value = placeIn(location.hash)
})

export const linkTo = (
  screen: string,
  id = '',
  filters: Record<string, string | undefined> = {},
): string => {
  const set = Object.entries(filters).filter(([, value]) => value)
  const query = new URLSearchParams(set as [string, string][]).toString()
  return `#/${screen}${id ? `/${encodeURIComponent(id)}` : ''}${query ? `?${query}` : ''}`
}

/** Changes the filters of this screen without an entry in the history. */
export const setFilters = (filters: Record<string, string | undefined>): void => {
  const { screen, id, filters: previous } = place.value
  location.replace(linkTo(screen, id, { ...previous, ...filters }))
}
