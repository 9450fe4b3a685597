import { lookup } from 'node:dns/promises'
import { environment } from '../../runtime.ts'

/** What stands around the sender, and differs between a test, a sandbox and a deployment. */
export type Network = {
  /** Every address of a host; throws, or gives none, for a host that has none. */
  readonly resolve: (host: string) => Promise<string[]>
  /** Whether this machine itself may be named, without TLS: only in the sandbox on it. */
  readonly local: boolean
  /** Hosts of this service, with their port where it is not 443: it sends itself no events. */
  readonly ownHosts: readonly string[]
}

export const resolveHost = async (host: string): Promise<string[]> => {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address)
}

/** The network as this deployment has it. */
export const network: Network = {
  resolve: resolveHost,
  get local() {
    return environment.localPeers
  },
  get ownHosts() {
    return environment.ownHosts
  },
}
