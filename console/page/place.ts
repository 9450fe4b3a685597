/** The place in the address after `#/`: a screen, the object that it shows, and filters. */
export type ScreenPlace = { screen: string; id: string; filters: Record<string, string> }

const DEFAULT_SCREEN = 'debits'

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Reads the hash of any address: a malformed one is an unknown object. */
export const placeIn = (hash: string): ScreenPlace => {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [screen = '', ...id] = path.split('/')
  return {
    screen: screen || DEFAULT_SCREEN,
    id: decoded(id.join('/')),
    filters: Object.fromEntries(new URLSearchParams(query)),
  }
}

/** The titles that are not the paths of their screens. */
const titles: Record<string, string> = { changes: 'Operator changes', calls: 'All calls' }

export const titleOf = (screen: string): string =>
  titles[screen] ?? `${screen[0]?.toUpperCase()}${screen.slice(1)}`

export const linkTo = (
  screen: string,
  id = '',
  filters: Record<string, string | undefined> = {},
): string => {
  const set = Object.entries(filters).filter(([, value]) => value)
  const query = new URLSearchParams(set as [string, string][]).toString()
  return `#/${screen}${id ? `/${encodeURIComponent(id)}` : ''}${query ? `?${query}` : ''}`
}
