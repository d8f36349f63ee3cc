import '../design/tokens.css'
import '../design/base.css'
import '../design/parts.css'
import './styles/layout.css'
import './styles/text.css'
import './styles/drawings.css'
import './styles/code.css'
import './styles/start.css'
import './styles/reference.css'
import './styles/try-it.css'
import { createRoot } from 'react-dom/client'
import { applyTheme } from '../design/theme.ts'
import { DocsApp } from './shell/docs-app.tsx'

applyTheme()
const place = document.getElementById('page')
if (place === null) throw new Error('index.html has no element with the id "page"')
createRoot(place).render(<DocsApp />)
