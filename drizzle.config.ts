import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  casing: 'snake_case',
  schema: './shared/stores/schema/tables.ts',
  out: './shared/stores/schema/migrations',
})
