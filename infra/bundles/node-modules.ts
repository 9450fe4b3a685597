import { builtinModules } from 'node:module'
import type { Plugin } from 'esbuild'

/**
 * Loads Node's own modules by `process.getBuiltinModule`. An ES import of node:http reads every export,
 * and some of them load a WebSocket client, which costs 22 ms of a cold start.
 */
export const nodeModules: Plugin = {
  name: 'node-modules',
  setup: ({ onResolve, onLoad }) => {
    const names = new RegExp(`^(?:node:.+|${builtinModules.join('|')})$`)
    onResolve({ filter: names }, ({ path }) => ({
      path: path.startsWith('node:') ? path : `node:${path}`,
      namespace: 'node-modules',
    }))
    onLoad({ filter: /./, namespace: 'node-modules' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }))
  },
}
