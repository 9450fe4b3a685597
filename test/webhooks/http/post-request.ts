import type { Network } from '../../../shared/webhooks/http/network.ts'
import type { PostRequest } from '../../../shared/webhooks/http/sender.ts'

export const requestTo = (url: string, changes: Partial<PostRequest> = {}): PostRequest => ({
  url,
  headers: {},
  body: '{}',
  timeoutSeconds: 10,
  connectionTimeoutSeconds: 5,
  ...changes,
})

/** Returns a network without any known host. */
export const networkOf = (changes: Partial<Network> = {}): Network => ({
  resolve: async () => [],
  localPeers: [],
  ownHosts: [],
  ...changes,
})

/** Returns a resolver that gives these answers in order and records the looked-up hosts. */
export const fakeResolver = (...answers: string[][]) => {
  const lookups: string[] = []
  const resolve = async (host: string): Promise<string[]> => {
    lookups.push(host)
    return answers[lookups.length - 1] ?? []
  }
  return { lookups, resolve }
}
