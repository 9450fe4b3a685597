import type { OptionsOf, ResultOf, VerbName } from '../../shared/operator/results.ts'
import { InvocationFailure, invokeFunction } from '../functions-client.ts'

const call = async <V extends VerbName<'webhook'>>(
  port: number,
  verb: V,
  options: OptionsOf<'webhook', V>,
) => {
  const reply = await invokeFunction({ port }, 'manage-webhook', { verb, options })
  return reply as { result: ResultOf<'webhook', V> } | { error: string }
}

/**
 * Directs the webhook of a provider in a sandbox to a URL. It keeps its secret.
 * @param events the only events to send; undefined: as before
 * @returns the secret, and a function that restores the earlier setting
 * @throws InvocationFailure with one line
 */
export const register = async (
  port: number,
  {
    provider,
    url,
    events,
  }: { provider: string; url: string; events: readonly string[] | undefined },
) => {
  const set = async (options: Omit<OptionsOf<'webhook', 'set'>, 'provider'>) => {
    const reply = await call(port, 'set', { provider, ...options })
    if ('error' in reply) throw new InvocationFailure(reply.error)
    return reply.result
  }
  const earlier = await call(port, 'show', { provider })
  const { secret } = await set({ url, ...(events && { events: events.join() }) })
  return {
    secret,
    restore: async (): Promise<void> => {
      if ('error' in earlier) await call(port, 'remove', { provider })
      else await set({ url: earlier.result.url, events: earlier.result.events?.join() ?? 'none' })
    },
  }
}
