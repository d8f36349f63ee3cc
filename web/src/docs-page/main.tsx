import '../design/tokens.css'
import '../design/base.css'
import '../design/parts.css'
import './styles/layout.css'
import './styles/text.css'
import './styles/reference.css'
import { createRoot } from 'react-dom/client'
import { applyTheme } from '../design/theme.ts'
import { DocsApp } from './shell/docs-app.tsx'

applyTheme()
const root = document.getElementById('page')
if (root === null) throw new Error('index.html has no element with the id "page"')
createRoot(root).render(<DocsApp />)
