import type { IncomingMessage } from 'node:http'

export type RequestTarget = { host: string; pathname: string; search: string }

/**
 * Splits the request target without resolving dots or encodings. The host of a target in absolute
 * form replaces the Host header (RFC 9112, 3.2.2).
 */
export const targetOf = ({ url = '/', headersDistinct }: IncomingMessage): RequestTarget => {
  const absolute = /^https?:\/\/([^/?#]*)(.*)$/is.exec(url)
  const [pathname = '', search = ''] = (absolute?.[2] ?? url).split(/\?(.*)/s)
  const { host: [header = '', ...others] = [] } = headersDistinct
  // A repeated Host header counts as none: peers disagree about which one counts (RFC 9112, 3.2).
  const host = others.length > 0 ? '' : (absolute?.[1] ?? header)
  return { host, pathname: pathname || '/', search }
}

const LOCAL = ['127.0.0.1', 'localhost', '[::1]']

/**
 * Checks that Host and Origin name this machine, or one of `names`. Otherwise a foreign page could
 * write to the sandbox, or read from it by DNS rebinding.
 */
export const isLocal = (
  { host }: RequestTarget,
  { origin }: IncomingMessage['headers'],
  names: readonly string[],
): boolean => {
  const isAllowed = (place: string): boolean => {
    const name = place.toLowerCase().replace(/:[0-9]{1,5}$/, '')
    return LOCAL.includes(name) || names.includes(name)
  }
  return isAllowed(host) && (origin === undefined || isAllowed(origin.replace(/^https?:\/\//i, '')))
}
