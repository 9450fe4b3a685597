import { defined, type Shows } from '../../domain/complete.ts'
import type { Change } from '../../domain/operator/change.ts'
import type { Day } from '../../domain/time.ts'

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

/** A sealed day: `ok`, `open` for a day that is not sealed yet, or its first difference. */
export type DayVerdict = { day: Day; result: string }
