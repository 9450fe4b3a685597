import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ApprovalResult } from '../../shared/views/operator/approval.ts'
import { mayUse, operate, settings } from './client.ts'
import { place } from './route.ts'
import { useLoaded } from './use-operator.ts'

/** The requests that wait for a second operator, for the objects that they concern. */
export const pending = signal<readonly ApprovalResult[]>([])

export const addPending = (request: ApprovalResult): void => {
  pending.value = [request, ...pending.value]
}

/** Reads the requests at each place. The service records such a read, so a stage is not polled. */
export const usePending = (): void => {
  const { screen, id } = place.value
  const entities = settings.value?.is_live ? ['approval'] : []
  const options = { status: 'pending', limit: '1000' }
  const load = (signal: AbortSignal) => operate('approval', 'list', options, signal)
  // The result of an earlier visit lacks the requests since then.
  const watch = { entities, isKept: false }
  const { data } = useLoaded([screen, id], mayUse('approval') ? load : undefined, watch)
  useEffect(() => {
    if (data) pending.value = data
  }, [data])
}

/** Finds a request of the same call about the same object. */
export const pendingCall = (
  noun: string,
  verb: string,
  object: Record<string, string | undefined>,
): ApprovalResult | undefined => {
  const preset = Object.entries(object)
  return pending.value.find(
    (request) =>
      preset.length > 0 &&
      request.noun === noun &&
      request.verb === verb &&
      preset.every(([name, value]) => request.options[name] === value),
  )
}
