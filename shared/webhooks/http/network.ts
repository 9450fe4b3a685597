import { lookup } from 'node:dns/promises'
import { environment } from '../../runtime.ts'

/** The sender's environment, which differs between tests, the local sandbox and deployments. */
export type Network = {
  /** Resolves all addresses of a host. Throws or returns none for an unknown host. */
  readonly resolve: (host: string) => Promise<string[]>
  /** Hosts that may be private and without TLS; for the local sandbox. */
  readonly localPeers: readonly string[]
  /** Hosts of this service, with ports other than 443; URLs must not name them. */
  readonly ownHosts: readonly string[]
}

export const resolveHost = async (host: string): Promise<string[]> => {
  const addresses = await lookup(host, { all: true })
  return addresses.map(({ address }) => address)
}

export const network: Network = {
  resolve: resolveHost,
  get localPeers() {
    return environment.localPeers
  },
  get ownHosts() {
    return environment.ownHosts
  },
}
