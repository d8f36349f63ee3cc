declare module '*.md' {
  export const guide: import('./guide.ts').Guide
}
