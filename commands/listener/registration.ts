import type { OptionsOf, ResultOf, VerbName } from '../../shared/operator/results.ts'
import { InvocationFailure } from '../functions-client.ts'
import { operate } from '../operator-client.ts'

const call = async <V extends VerbName<'webhook'>>(
  port: number,
  verb: V,
  options: OptionsOf<'webhook', V>,
) => {
  const reply = await operate({ port }, 'webhook', { verb, options })
  return reply as { result: ResultOf<'webhook', V> } | { error: string }
}

const resultOf = <T>(reply: { result: T } | { error: string }): T => {
  if ('error' in reply) throw new InvocationFailure(reply.error)
  const { approval } = reply.result as { approval?: { id: string } }
  if (approval) throw new InvocationFailure(`the webhook waits for the approval ${approval.id}`)
  return reply.result
}

/**
 * Prepares the webhook of a provider in a sandbox for a URL.
 * @param events the only events to send; undefined: as before
 * @returns functions that direct it there, and restore the earlier URL and events
 * @throws InvocationFailure with one line, as do the functions
 */
export const prepare = async (
  port: number,
  {
    provider,
    url,
    events,
  }: { provider: string; url: string; events: readonly string[] | undefined },
) => {
  const set = (options: Omit<OptionsOf<'webhook', 'set'>, 'provider'>) =>
    call(port, 'set', { provider, ...options }).then(resultOf)
  const rotate = () => call(port, 'rotate-secret', { provider }).then(resultOf)
  const earlier = await call(port, 'show', { provider })
  return {
    /** Returns the secret, and whether it replaces another. */
    register: async () => {
      const { secret: created } = await set({ url, ...(events && { events: events.join() }) })
      // The secret of an earlier webhook is not shown: a rotation creates another, and both sign for a day.
      const secret = created ?? (await rotate()).secret
      return { secret, isReplaced: secret !== created }
    },
    restore: async (): Promise<void> => {
      if ('error' in earlier) await call(port, 'remove', { provider })
      else await set({ url: earlier.result.url, events: earlier.result.events?.join() ?? 'none' })
    },
  }
}
