import { current } from '../engine/current.ts'

/** Replaces `node:perf_hooks`. */
export const performance = { now: (): number => current().runtime.now().getTime() }
