const LENGTH_MAX = 2_048

/** Parses the URL of a provider or a bank; returns the problem as text. */
export const peerUrl = (text: string): URL | string => {
  const url = text.length > LENGTH_MAX ? null : URL.parse(text)
  if (!url) return 'is not a URL'
  return url.username || url.password ? 'must not contain credentials' : url
}

/** Reports whether a URL names a host that a local sandbox allows without TLS. */
export const isLocalPeer = ({ protocol, hostname }: URL, localPeers: readonly string[]): boolean =>
  protocol === 'http:' && localPeers.includes(hostname)
