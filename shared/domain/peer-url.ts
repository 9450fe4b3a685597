const LENGTH_MAX = 2_048

/** Text as the URL of a provider or a bank; as text: why it can be none. */
export const peerUrl = (text: string): URL | string => {
  if (text.length > LENGTH_MAX || !URL.canParse(text)) return 'is not a URL'
  const url = new URL(text)
  return url.username || url.password ? 'must not contain credentials' : url
}

/** A peer on this machine, without TLS: only a sandbox on it may speak to such. */
export const isOnThisMachine = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && hostname === '127.0.0.1'
