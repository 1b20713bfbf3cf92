//! An echo server of tokio's tasks, on one OS thread. Prints its port, and serves until it is killed.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn serve(mut stream: TcpStream) {
    let mut bytes = [0u8; 4096];
    while let Ok(size) = stream.read(&mut bytes).await {
        if size == 0 || stream.write_all(&bytes[..size]).await.is_err() {
            return;
        }
    }
}

fn main() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?.port());
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(serve(stream));
        }
    })
}
