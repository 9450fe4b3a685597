import { defined, type Shows } from '../../domain/complete.ts'
import type { Change } from '../../domain/operator/change.ts'

export type ChangeResult = ReturnType<typeof changeView>

export const changeView = ({ at, by, approvedBy, noun, verb, target, changed }: Change) =>
  ({
    at: at.toISOString(),
    by,
    ...defined({ approved_by: approvedBy }),
    noun,
    verb,
    target,
    changed,
  }) satisfies Shows<Change, 'approvedBy' | 'provider' | 'bank'>
