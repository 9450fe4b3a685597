import type { Network } from '../../../shared/webhooks/http/network.ts'
import type { PostRequest } from '../../../shared/webhooks/http/sender.ts'

/** A request, as a test needs it. */
export const requestTo = (url: string, changes: Partial<PostRequest> = {}): PostRequest => ({
  url,
  headers: {},
  body: '{}',
  timeoutSeconds: 10,
  connectionTimeoutSeconds: 5,
  ...changes,
})

/** A network in which no name is known, but for those that a test adds. */
export const networkOf = (changes: Partial<Network> = {}): Network => ({
  resolve: async () => [],
  local: false,
  ownHosts: [],
  ...changes,
})

/** A name system that gives these answers, one after the other, and counts the questions. */
export const answering = (...answers: string[][]) => {
  const asked: string[] = []
  const resolve = async (host: string): Promise<string[]> => {
    asked.push(host)
    return answers[asked.length - 1] ?? []
  }
  return { asked, resolve }
}
