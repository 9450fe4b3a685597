import type { IncomingMessage } from 'node:http'

/** Where a request goes, and whether it comes from this machine. */

export type Target = { host: string; pathname: string; search: string }

/**
 * Splits the target as it was sent: neither dots nor encodings are resolved. The host of a target
 * in absolute form replaces the Host header (RFC 9112, 3.2.2).
 */
export const targetOf = ({ url = '/', headers }: IncomingMessage): Target => {
  const absolute = /^https?:\/\/([^/?#]*)(.*)$/is.exec(url)
  const [pathname = '', search = ''] = (absolute?.[2] ?? url).split(/\?(.*)/s)
  return { host: absolute?.[1] ?? headers.host ?? '', pathname: pathname || '/', search }
}

const LOCAL = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?$/i

/**
 * Returns whether a request names this machine and comes from no page of another: a page elsewhere
 * could write to the sandbox, and read it through a name that leads here.
 */
export const isLocal = ({ host }: Target, { origin }: IncomingMessage['headers']): boolean =>
  LOCAL.test(host) && (origin === undefined || LOCAL.test(origin.replace(/^https?:\/\//i, '')))
